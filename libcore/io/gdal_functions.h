/* The functions of GDAL that are called, loaded when the first of them is needed.
 *
 * GDAL brings some seventy libraries along, which take 0.2 s to load. Most runs of a tool read no
 * raster, so no tool is linked with it: tl_gdal_load (io/gdal_library.h) opens the library and
 * fills the table. Calls keep GDAL's names. A function that is called must be listed twice here;
 * tests/cli/test_install.sh finds one that is not, because the tools then need the library.
 */
#ifndef TL_IO_GDAL_FUNCTIONS_H
#define TL_IO_GDAL_FUNCTIONS_H

#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>

/* clang-format off */
#define TL_GDAL_FUNCTIONS(F) \
  F(CPLErrorReset) F(CPLGetLastErrorMsg) F(CPLGetLastErrorType) F(CPLPopErrorHandler) \
  F(CPLPushErrorHandler) F(CPLQuietErrorHandler) F(CPLSetConfigOption) F(CPLSetErrorHandler) \
  F(GDALAllRegister) F(GDALClose) F(GDALCreate) F(GDALCreateColorTable) \
  F(GDALDataTypeIsComplex) F(GDALDatasetCommitTransaction) F(GDALDatasetCreateLayer) \
  F(GDALDatasetGetLayer) F(GDALDatasetGetLayerByName) F(GDALDatasetGetLayerCount) \
  F(GDALDatasetStartTransaction) F(GDALDeregisterDriver) F(GDALDestroyColorTable) \
  F(GDALGetDatasetDriver) F(GDALGetDriver) F(GDALGetDriverByName) F(GDALGetDriverCount) \
  F(GDALGetDriverShortName) F(GDALGetGeoTransform) F(GDALGetMaskBand) F(GDALGetMetadata) \
  F(GDALGetRasterBand) F(GDALGetRasterColorInterpretation) F(GDALGetRasterCount) \
  F(GDALGetRasterDataType) F(GDALGetRasterOffset) F(GDALGetRasterScale) \
  F(GDALGetRasterUnitType) F(GDALGetRasterXSize) F(GDALGetRasterYSize) F(GDALGetSpatialRef) \
  F(GDALOpenEx) F(GDALRasterIO) F(GDALSetColorEntry) F(GDALSetDescription) \
  F(GDALSetGeoTransform) F(GDALSetMetadataItem) F(GDALSetProjection) F(GDALSetRasterColorTable) F(GDALSetRasterNoDataValue) F(GDALSetRasterUnitType) \
  F(OCTDestroyCoordinateTransformation) F(OCTNewCoordinateTransformation) \
  F(OGR_FD_GetFieldCount) F(OGR_FD_GetFieldDefn) F(OGR_F_Create) F(OGR_F_Destroy) \
  F(OGR_F_GetFID) F(OGR_F_GetFieldAsInteger) F(OGR_F_GetFieldAsString) F(OGR_F_GetGeometryRef) \
  F(OGR_F_IsFieldSetAndNotNull) F(OGR_F_SetFieldDouble) F(OGR_F_SetFieldInteger64) \
  F(OGR_F_SetFieldNull) F(OGR_F_SetFieldString) F(OGR_F_SetGeometry) F(OGR_Fld_Create) \
  F(OGR_Fld_Destroy) F(OGR_Fld_GetNameRef) F(OGR_Fld_GetSubType) F(OGR_GT_Flatten) \
  F(OGR_GT_SetZ) F(OGR_G_AddGeometry) F(OGR_G_AddPoint) F(OGR_G_Clone) F(OGR_G_CreateGeometry) \
  F(OGR_G_DestroyGeometry) F(OGR_G_FlattenTo2D) F(OGR_G_ForceTo) F(OGR_G_ForceToMultiPolygon) \
  F(OGR_G_GetGeometryCount) F(OGR_G_GetGeometryName) F(OGR_G_GetGeometryRef) \
  F(OGR_G_GetGeometryType) F(OGR_G_GetPointCount) F(OGR_G_GetX) F(OGR_G_GetY) F(OGR_G_GetZ) \
  F(OGR_G_Is3D) F(OGR_G_IsEmpty) F(OGR_G_IsValid) F(OGR_G_Transform) F(OGR_G_UnionCascaded) \
  F(OGR_L_CreateFeature) F(OGR_L_CreateField) F(OGR_L_GetLayerDefn) F(OGR_L_GetName) \
  F(OGR_L_GetNextFeature) F(OGR_L_GetSpatialRef) F(OGR_L_SetAttributeFilter) F(OSRClone) \
  F(OSRDemoteTo2D) F(OSRDestroySpatialReference) F(OSRExportToWktEx) F(OSRGetLinearUnits) \
  F(OSRGetName) F(OSRGetTargetLinearUnits) F(OSRIsCompound) F(OSRIsGeographic) F(OSRIsSame) \
  F(OSRNewSpatialReference) F(OSRSetAxisMappingStrategy) F(OSRSetFromUserInput) \
  F(OSRSetPROJEnableNetwork) F(VSIFree)

typedef struct TlGdal {
#define F(name) __typeof__(&name) name##_;
  TL_GDAL_FUNCTIONS(F)
#undef F
} TlGdal;
extern TlGdal tl_gdal;

#define CPLErrorReset (tl_gdal.CPLErrorReset_)
#define CPLGetLastErrorMsg (tl_gdal.CPLGetLastErrorMsg_)
#define CPLGetLastErrorType (tl_gdal.CPLGetLastErrorType_)
#define CPLPopErrorHandler (tl_gdal.CPLPopErrorHandler_)
#define CPLPushErrorHandler (tl_gdal.CPLPushErrorHandler_)
#define CPLQuietErrorHandler (tl_gdal.CPLQuietErrorHandler_)
#define CPLSetConfigOption (tl_gdal.CPLSetConfigOption_)
#define CPLSetErrorHandler (tl_gdal.CPLSetErrorHandler_)
#define GDALAllRegister (tl_gdal.GDALAllRegister_)
#define GDALClose (tl_gdal.GDALClose_)
#define GDALCreate (tl_gdal.GDALCreate_)
#define GDALCreateColorTable (tl_gdal.GDALCreateColorTable_)
#define GDALDataTypeIsComplex (tl_gdal.GDALDataTypeIsComplex_)
#define GDALDatasetCommitTransaction (tl_gdal.GDALDatasetCommitTransaction_)
#define GDALDatasetCreateLayer (tl_gdal.GDALDatasetCreateLayer_)
#define GDALDatasetGetLayer (tl_gdal.GDALDatasetGetLayer_)
#define GDALDatasetGetLayerByName (tl_gdal.GDALDatasetGetLayerByName_)
#define GDALDatasetGetLayerCount (tl_gdal.GDALDatasetGetLayerCount_)
#define GDALDatasetStartTransaction (tl_gdal.GDALDatasetStartTransaction_)
#define GDALDeregisterDriver (tl_gdal.GDALDeregisterDriver_)
#define GDALDestroyColorTable (tl_gdal.GDALDestroyColorTable_)
#define GDALGetDatasetDriver (tl_gdal.GDALGetDatasetDriver_)
#define GDALGetDriver (tl_gdal.GDALGetDriver_)
#define GDALGetDriverByName (tl_gdal.GDALGetDriverByName_)
#define GDALGetDriverCount (tl_gdal.GDALGetDriverCount_)
#define GDALGetDriverShortName (tl_gdal.GDALGetDriverShortName_)
#define GDALGetGeoTransform (tl_gdal.GDALGetGeoTransform_)
#define GDALGetMaskBand (tl_gdal.GDALGetMaskBand_)
#define GDALGetMetadata (tl_gdal.GDALGetMetadata_)
#define GDALGetRasterBand (tl_gdal.GDALGetRasterBand_)
#define GDALGetRasterColorInterpretation (tl_gdal.GDALGetRasterColorInterpretation_)
#define GDALGetRasterCount (tl_gdal.GDALGetRasterCount_)
#define GDALGetRasterDataType (tl_gdal.GDALGetRasterDataType_)
#define GDALGetRasterOffset (tl_gdal.GDALGetRasterOffset_)
#define GDALGetRasterScale (tl_gdal.GDALGetRasterScale_)
#define GDALGetRasterUnitType (tl_gdal.GDALGetRasterUnitType_)
#define GDALGetRasterXSize (tl_gdal.GDALGetRasterXSize_)
#define GDALGetRasterYSize (tl_gdal.GDALGetRasterYSize_)
#define GDALGetSpatialRef (tl_gdal.GDALGetSpatialRef_)
#define GDALOpenEx (tl_gdal.GDALOpenEx_)
#define GDALRasterIO (tl_gdal.GDALRasterIO_)
#define GDALSetColorEntry (tl_gdal.GDALSetColorEntry_)
#define GDALSetDescription (tl_gdal.GDALSetDescription_)
#define GDALSetGeoTransform (tl_gdal.GDALSetGeoTransform_)
#define GDALSetMetadataItem (tl_gdal.GDALSetMetadataItem_)
#define GDALSetProjection (tl_gdal.GDALSetProjection_)
#define GDALSetRasterColorTable (tl_gdal.GDALSetRasterColorTable_)
#define GDALSetRasterNoDataValue (tl_gdal.GDALSetRasterNoDataValue_)
#define GDALSetRasterUnitType (tl_gdal.GDALSetRasterUnitType_)
#define OCTDestroyCoordinateTransformation (tl_gdal.OCTDestroyCoordinateTransformation_)
#define OCTNewCoordinateTransformation (tl_gdal.OCTNewCoordinateTransformation_)
#define OGR_FD_GetFieldCount (tl_gdal.OGR_FD_GetFieldCount_)
#define OGR_FD_GetFieldDefn (tl_gdal.OGR_FD_GetFieldDefn_)
#define OGR_F_Create (tl_gdal.OGR_F_Create_)
#define OGR_F_Destroy (tl_gdal.OGR_F_Destroy_)
#define OGR_F_GetFID (tl_gdal.OGR_F_GetFID_)
#define OGR_F_GetFieldAsInteger (tl_gdal.OGR_F_GetFieldAsInteger_)
#define OGR_F_GetFieldAsString (tl_gdal.OGR_F_GetFieldAsString_)
#define OGR_F_GetGeometryRef (tl_gdal.OGR_F_GetGeometryRef_)
#define OGR_F_IsFieldSetAndNotNull (tl_gdal.OGR_F_IsFieldSetAndNotNull_)
#define OGR_F_SetFieldDouble (tl_gdal.OGR_F_SetFieldDouble_)
#define OGR_F_SetFieldInteger64 (tl_gdal.OGR_F_SetFieldInteger64_)
#define OGR_F_SetFieldNull (tl_gdal.OGR_F_SetFieldNull_)
#define OGR_F_SetFieldString (tl_gdal.OGR_F_SetFieldString_)
#define OGR_F_SetGeometry (tl_gdal.OGR_F_SetGeometry_)
#define OGR_Fld_Create (tl_gdal.OGR_Fld_Create_)
#define OGR_Fld_Destroy (tl_gdal.OGR_Fld_Destroy_)
#define OGR_Fld_GetNameRef (tl_gdal.OGR_Fld_GetNameRef_)
#define OGR_Fld_GetSubType (tl_gdal.OGR_Fld_GetSubType_)
#define OGR_GT_Flatten (tl_gdal.OGR_GT_Flatten_)
#define OGR_GT_SetZ (tl_gdal.OGR_GT_SetZ_)
#define OGR_G_AddGeometry (tl_gdal.OGR_G_AddGeometry_)
#define OGR_G_AddPoint (tl_gdal.OGR_G_AddPoint_)
#define OGR_G_Clone (tl_gdal.OGR_G_Clone_)
#define OGR_G_CreateGeometry (tl_gdal.OGR_G_CreateGeometry_)
#define OGR_G_DestroyGeometry (tl_gdal.OGR_G_DestroyGeometry_)
#define OGR_G_FlattenTo2D (tl_gdal.OGR_G_FlattenTo2D_)
#define OGR_G_ForceTo (tl_gdal.OGR_G_ForceTo_)
#define OGR_G_ForceToMultiPolygon (tl_gdal.OGR_G_ForceToMultiPolygon_)
#define OGR_G_GetGeometryCount (tl_gdal.OGR_G_GetGeometryCount_)
#define OGR_G_GetGeometryName (tl_gdal.OGR_G_GetGeometryName_)
#define OGR_G_GetGeometryRef (tl_gdal.OGR_G_GetGeometryRef_)
#define OGR_G_GetGeometryType (tl_gdal.OGR_G_GetGeometryType_)
#define OGR_G_GetPointCount (tl_gdal.OGR_G_GetPointCount_)
#define OGR_G_GetX (tl_gdal.OGR_G_GetX_)
#define OGR_G_GetY (tl_gdal.OGR_G_GetY_)
#define OGR_G_GetZ (tl_gdal.OGR_G_GetZ_)
#define OGR_G_Is3D (tl_gdal.OGR_G_Is3D_)
#define OGR_G_IsEmpty (tl_gdal.OGR_G_IsEmpty_)
#define OGR_G_IsValid (tl_gdal.OGR_G_IsValid_)
#define OGR_G_Transform (tl_gdal.OGR_G_Transform_)
#define OGR_G_UnionCascaded (tl_gdal.OGR_G_UnionCascaded_)
#define OGR_L_CreateFeature (tl_gdal.OGR_L_CreateFeature_)
#define OGR_L_CreateField (tl_gdal.OGR_L_CreateField_)
#define OGR_L_GetLayerDefn (tl_gdal.OGR_L_GetLayerDefn_)
#define OGR_L_GetName (tl_gdal.OGR_L_GetName_)
#define OGR_L_GetNextFeature (tl_gdal.OGR_L_GetNextFeature_)
#define OGR_L_GetSpatialRef (tl_gdal.OGR_L_GetSpatialRef_)
#define OGR_L_SetAttributeFilter (tl_gdal.OGR_L_SetAttributeFilter_)
#define OSRClone (tl_gdal.OSRClone_)
#define OSRDemoteTo2D (tl_gdal.OSRDemoteTo2D_)
#define OSRDestroySpatialReference (tl_gdal.OSRDestroySpatialReference_)
#define OSRExportToWktEx (tl_gdal.OSRExportToWktEx_)
#define OSRGetLinearUnits (tl_gdal.OSRGetLinearUnits_)
#define OSRGetName (tl_gdal.OSRGetName_)
#define OSRGetTargetLinearUnits (tl_gdal.OSRGetTargetLinearUnits_)
#define OSRIsCompound (tl_gdal.OSRIsCompound_)
#define OSRIsGeographic (tl_gdal.OSRIsGeographic_)
#define OSRIsSame (tl_gdal.OSRIsSame_)
#define OSRNewSpatialReference (tl_gdal.OSRNewSpatialReference_)
#define OSRSetAxisMappingStrategy (tl_gdal.OSRSetAxisMappingStrategy_)
#define OSRSetFromUserInput (tl_gdal.OSRSetFromUserInput_)
#define OSRSetPROJEnableNetwork (tl_gdal.OSRSetPROJEnableNetwork_)
#define VSIFree (tl_gdal.VSIFree_)
/* clang-format on */

#endif
